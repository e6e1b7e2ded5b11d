"""Tasks of the native host."""

import subprocess

import pytest

HOST = ("kal/task", "kal/wait", "kal/handle", "map", "text", "enter")


@pytest.mark.spec("TASK-1", "TASK-2", "TASK-3", "TASK-6")
def test_tasks_start_and_are_joined_once(build):
    """A task has a stack of the declared size, one joins it, and it leaves nothing behind."""
    subprocess.run(build("kal_task.c", *HOST), check=True)


@pytest.mark.spec("TASK-4", "KAL-2")
def test_waiting_ends_by_a_wake_up_or_at_its_time(build):
    """No wake-up is missed, no bound is early, and interruptions change neither."""
    subprocess.run(build("kal_task_wait.c", *HOST), check=True)
