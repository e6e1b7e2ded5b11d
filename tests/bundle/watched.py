"""A view that tells what was read."""

from __future__ import annotations

from okld.base.view import View


class Watched(View):
    """A view that keeps the sizes of what is read."""

    __slots__ = ("sizes",)

    @classmethod
    def over(cls, data: bytes) -> Watched:
        view = cls(memoryview(data), -1, 0, len(data))
        view.sizes = []
        return view

    def window(self, offset: int, size: int, what: str, rule: str) -> memoryview | bytes:
        self.sizes.append(size)
        return super().window(offset, size, what, rule)
