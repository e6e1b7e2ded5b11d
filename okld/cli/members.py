"""The images that a word of the command line names: ``FILE`` or ``FILE:MEMBER``. Source: OKB-28."""

from __future__ import annotations

from contextlib import contextmanager

from okld.base.errors import OkError, Refusal
from okld.bundle.container import looks_like_bundle
from okld.bundle.naming import split_word
from okld.image.open import OpenFile, open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from okld.bundle.bundle import Bundle
    from okld.bundle.manifest import Member


class Named:
    """
    What a word names.

    Attributes:
        word: The word.
        file: The file that it names, or that the member is in.
        bundle: What that file is, or None where it is an image itself.
        members: Those that are meant: all, or the one that is named.
    """

    __slots__ = ("bundle", "file", "members", "word")

    def __init__(
        self, word: str, file: OpenFile, bundle: Bundle | None, members: tuple[Member, ...]
    ) -> None:
        self.word = word
        self.file = file
        self.bundle = bundle
        self.members = members

    def image(self, member: Member) -> OpenFile:
        """Return the image of *member*, in the file that stays this one's, with a word for it."""
        assert self.bundle is not None
        word = f"{self.file.path}:{member.name}"
        return OpenFile(word, self.file.fd, member.length, self.bundle.offset(member))

    def images(self) -> list[OpenFile]:
        """Return the images that are meant; they are closed with this one's file."""
        if self.bundle is None:
            return [self.file]
        return [self.image(member) for member in self.members]

    def only(self) -> OpenFile:
        """
        Return the one image that is meant.

        Raises:
            OkError: If there are several.
        """
        images = self.images()
        if len(images) > 1:
            words = " ".join(image.path for image in images)
            raise OkError(f"{self.word} holds several images; name one of {words}")
        return images[0]


@contextmanager
def named(word: str) -> Iterator[Named]:
    """
    Open what *word* names.

    Raises:
        FormatError: If it is a bundle, and breaks a rule of SPEC chapter 14.
        Refusal: If it names a member of what is no bundle, or has no such member.
        Unreadable: If it cannot be opened or read.
    """
    path, name = split_word(word)
    with open_file(path) as file:
        if not looks_like_bundle(file.view):
            if name is not None:
                raise Refusal("OKB-28", f"{path} is no bundle, with a member {name}")
            yield Named(word, file, None, ())
            return
        from okld.bundle.bundle import open_bundle  # an image does without attrs

        bundle = open_bundle(file.view)
        members = bundle.members if name is None else (bundle.select(name, ""),)
        yield Named(word, file, bundle, members)
