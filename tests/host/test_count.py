"""Counting and timing, function by function and thread by thread."""

import subprocess

import pytest


@pytest.mark.spec("PROF-2", "PROF-3", "BIND-5")
def test_counts_times_and_buckets_are_exact(build):
    """With a clock that is scripted every count, sum, maximum and bucket is known beforehand."""
    subprocess.run(build("count.c", "count", "stats", "json"), check=True)


@pytest.mark.spec("PROF-3")
def test_the_counter_keeps_the_kernels_time(build):
    """A time by the processor's counter is the kernel's to a hundredth."""
    subprocess.run(build("clock.c", "clock", "text"), check=True)
