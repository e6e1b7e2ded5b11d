"""The command is sent what ``okprof record`` is sent, once, and both stop and end together."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from attended import Terminal, Told, wait_for

FORWARDED = [
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM,
    signal.SIGPIPE, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGURG,
    signal.SIGABRT, signal.SIGRTMIN, signal.SIGRTMAX,
]  # fmt: skip


@pytest.fixture
def told(okprof, script, tmp_path):
    """
    Start a recorded command.

    `before` are words before ``okprof record``, `through` before the command; it does not handle
    the signals `left`.
    """
    started = []

    def told(*, before=(), through=(), left=()):
        words = [*before, *okprof(*through, *script("told", *map(str, map(int, left))))]
        started.append(Told(words, tmp_path))
        return started[-1]

    yield told
    for each in started:
        each.end()


def state(pid):
    """Return the letter for what a process does."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


@pytest.mark.spec("REC-4")
def test_sent_to_this_alone(told):
    """A signal for this process reaches the command, one for one, and ends it where it would."""
    each = told()
    for number in FORWARDED:
        each.send(number)
        assert each.next() == number.name
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]
    assert each.process.returncode == 7


@pytest.mark.spec("REC-4")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_death_by_what_is_sent(told, number):
    """A command that dies of a signal that this process is sent ends it the same way."""
    each = told(left=[number])
    each.send(number)
    each.rest()
    assert each.process.returncode == -number


@pytest.mark.spec("REC-4")
@pytest.mark.parametrize("rounds", [1, 5])
def test_sent_to_the_group(told, rounds):
    """A signal for the whole group reaches the command once: it has it of the sender already."""
    each = told()
    for number in [number for number in FORWARDED if number != signal.SIGTSTP] * rounds:
        each.send_all(number)
        assert each.next() == number.name
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-4")
def test_group_and_alone(told):
    """Signals for the group and for this process alone are told apart as they come."""
    each = told()
    for to_group in (True, False, True, True, False, False):
        (each.send_all if to_group else each.send)(signal.SIGTERM)
        assert each.next() == "SIGTERM"
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-4")
def test_command_of_another_group(told):
    """A command that has left the group is sent what the group is sent."""
    leave = "import os, sys; os.setpgid(0, 0); os.execv(sys.argv[1], sys.argv[1:])"
    each = told(through=[sys.executable, "-c", leave])
    os.killpg(each.process.pid, signal.SIGTERM)
    assert each.next() == "SIGTERM"
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-4")
def test_timer_of_whoever_began(told):
    """A timer that was set before this process was executed is the command's."""
    begin = "import os, signal, sys; signal.setitimer(0, 1); os.execv(sys.argv[1], sys.argv[1:])"
    each = told(before=[sys.executable, "-c", begin])
    assert each.next() == "SIGALRM"


@pytest.mark.spec("REC-6")
def test_command_stopped_by_another(told):
    """Where no shell waits, a command that somebody stopped and continued goes on to its end."""
    each = told()
    os.kill(each.command, signal.SIGSTOP)
    wait_for(lambda: state(each.command) == "T")
    os.kill(each.command, signal.SIGCONT)
    assert each.next() == "SIGCONT"
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-6")
def test_whole_group_stopped(told):
    """A group that was stopped goes on where this process alone is continued."""
    each = told()
    os.killpg(each.process.pid, signal.SIGSTOP)
    wait_for(lambda: state(each.command) == "T" and state(each.process.pid) == "T")
    each.send(signal.SIGCONT)
    assert each.next() == "SIGCONT"
    each.send(signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-6")
def test_stopped_at_once(okprof, tmp_path):
    """So does one that was stopped when the command had hardly begun."""
    for _ in range(10):
        process = subprocess.Popen(
            okprof("-o", "out", "sh", "-c", "echo $$; read end; exit 9"), cwd=tmp_path, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        command = int(process.stdout.readline())
        os.killpg(process.pid, signal.SIGSTOP)
        try:
            wait_for(lambda pids=(command, process.pid): [*map(state, pids)] == ["T", "T"])
            process.send_signal(signal.SIGCONT)
            process.communicate("end\n", timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 9


@pytest.mark.spec("REC-5")
@pytest.mark.parametrize("ignored", [[], [signal.SIGINT, signal.SIGQUIT], [signal.SIGCHLD]])
@pytest.mark.parametrize("blocked", [[], [signal.SIGTERM, signal.SIGCHLD, signal.SIGRTMIN]])
def test_dispositions(record, ignored, blocked):
    """The command inherits what is ignored and what is blocked; its status is known."""

    def set_up():
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    show = ["grep", "-E", "Sig(Ign|Blk|Pnd)|ShdPnd", "/proc/self/status"]
    plain = subprocess.run(show, stdout=subprocess.PIPE, preexec_fn=set_up)
    done = record(*show, preexec_fn=set_up)
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    words = [int(word, 16) for word in re.findall(rb"Sig(?:Blk|Ign):\s*(\w+)", done.stdout)]
    assert words == [sum(1 << n - 1 for n in given) for given in (blocked, ignored)]


@pytest.mark.spec("REC-4")
def test_killed(told):
    """Where this process is killed the command goes on, and nothing else holds its streams."""
    each = told()
    each.process.kill()
    each.process.wait()
    os.kill(each.command, signal.SIGUSR2)
    assert each.rest() == ["SIGUSR2"]


@pytest.mark.spec("REC-4", "REC-8")
def test_sent_after_the_end(okprof, write_report, tmp_path):
    """What comes once the command has ended, as the second of timeout's signals, hides nothing."""
    folder = tmp_path / "out"
    folder.mkdir()
    write_report(folder)
    (path,) = folder.iterdir()
    for number in range(3000):  # which take a while to be looked at
        os.link(path, folder / f"okprof-other-{number}.json")
    words = okprof("-o", "out", "sh", "-c", "echo $$; exit 9")
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    command = int(process.stdout.readline())
    wait_for(lambda: not os.path.exists(f"/proc/{command}"))
    process.terminate()
    said = process.communicate(timeout=60)[1]
    assert (process.returncode, said.partition(": no report")[0]) == (9, "okprof")


@pytest.fixture
def terminal(tmp_path):
    """Start a program on a terminal of its own."""
    opened = []

    def terminal(words):
        opened.append(Terminal([os.fspath(word) for word in words], tmp_path))
        return opened[-1]

    yield terminal
    for each in opened:
        each.end()


@pytest.fixture
def on_terminal(terminal, okprof, script):
    """Start a recorded command in the foreground of a shell's terminal, and wait until it is up."""

    def on_terminal(*left):
        words = okprof(*script("told", *map(str, map(int, left))))
        each = terminal(script("shell", *words))
        each.command = int(each.until(r"([0-9]+)\r\n")[1])
        return each

    return on_terminal


@pytest.mark.spec("REC-4")
def test_keys_reach_the_command_once(on_terminal):
    """Interrupt and quit of the keyboard reach the command once, and this process outlives them."""
    each = on_terminal()
    for key, name in (("\x03", "SIGINT"), ("\x1c", "SIGQUIT"), ("\x03", "SIGINT")):
        each.type(key)
        each.until(rf"{name}\r\n")
        time.sleep(0.05)
    each.type("\x04")
    last = each.until(r"(?s)(.*)shell: ended 7\r\n")[1]
    assert "SIG" not in last
    assert "okprof: no report" in last


@pytest.mark.spec("REC-1", "REC-4")
def test_interrupt_that_ends_the_command(on_terminal):
    """A command that an interrupt ends ends this process by it: a shell's loop stops there."""
    each = on_terminal(signal.SIGINT)
    each.type("\x03")
    last = each.until(r"(?s)(.*)shell: ended -2\r\n")[1]
    assert "okprof: no report" in last


@pytest.mark.spec("REC-6")
def test_stop_key(on_terminal):
    """The stop key stops both for the shell, which goes on with both, as often as it likes."""
    each = on_terminal(signal.SIGTSTP)
    for _ in range(3):
        each.type("\x1a")
        each.until(r"shell: stopped\r\n")
        each.type("\n")
        each.until(r"SIGCONT\r\n")
    time.sleep(0.05)
    each.type("\x04")
    assert "SIG" not in each.until(r"(?s)(.*)shell: ended 7\r\n")[1]


@pytest.mark.spec("REC-6")
def test_stop_signal_for_this_alone(on_terminal):
    """The same signal of a process for this one alone stops both as well."""
    each = on_terminal(signal.SIGTSTP)
    with open(f"/proc/{each.command}/stat") as file:
        recorder = int(file.read().rpartition(")")[2].split()[1])
    os.kill(recorder, signal.SIGTSTP)
    each.until(r"shell: stopped\r\n")
    each.type("\n")
    each.until(r"SIGCONT\r\n")
    each.type("\x04")
    assert "SIG" not in each.until(r"(?s)(.*)shell: ended 7\r\n")[1]


@pytest.mark.spec("REC-6")
def test_command_that_stops_itself(terminal, script, okprof):
    """A command that stops itself, as an editor does after tidying up, stops for the shell."""
    words = okprof("sh", "-c", "echo up; kill -STOP $$; echo on; exit 5")
    each = terminal(script("shell", *words))
    each.until(r"shell: stopped\r\n")
    each.type("\n")
    each.until(r"on\r\n")
    each.until(r"shell: ended 5\r\n")


@pytest.mark.spec("REC-6")
def test_command_with_a_group_of_its_own(terminal, script, okprof):
    """So does one that has the terminal for a group of its own, as an inner shell has."""
    code = (
        "import os, signal; signal.signal(signal.SIGTTOU, signal.SIG_IGN); os.setpgid(0, 0);"
        "os.tcsetpgrp(0, os.getpid()); os.killpg(0, signal.SIGSTOP); print('on'); os._exit(5)"
    )
    each = terminal(script("shell", *okprof(sys.executable, "-uc", code)))
    each.until(r"shell: stopped\r\n")
    each.type("\n")
    each.until(r"on\r\n")
    each.until(r"shell: ended 5\r\n")


@pytest.mark.spec("REC-4")
def test_hang_up(terminal, okprof, script, tmp_path):
    """The end of the terminal reaches the command where this process leads the session there."""
    words = " ".join(map(str, script("told")))
    each = terminal(okprof("sh", "-c", f"mkfifo wait; exec {words} <>wait >told"))
    told = tmp_path / "told"
    wait_for(lambda: told.exists() and told.read_text())
    each.hang_up()
    wait_for(lambda: "SIGHUP" in told.read_text())
    os.kill(int(told.read_text().split()[0]), signal.SIGUSR2)
    # The system continues whom it tells of the end of a terminal.
    wait_for(lambda: sorted(told.read_text().split()[1:]) == ["SIGCONT", "SIGHUP", "SIGUSR2"])


@pytest.mark.spec("REC-7")
def test_the_terminal_is_the_commands(terminal, okprof, tmp_path):
    """The command reads and writes the terminal, sees its size, and may have a group of its own."""
    code = (
        "import os; print('tty', os.isatty(0), os.isatty(1), os.isatty(2), os.tcgetpgrp(0) =="
        " os.getpgrp(), input())"
    )
    each = terminal(okprof(sys.executable, "-c", code))
    each.type("typed\n")
    each.until(r"tty True True True True typed\r\n")
