"""What goes wrong between two steps of an app's life: crashes, lost channels, restarts, interruptions and locks, with the words of
docs/apps/transcripts."""

import time

import pytest

import transcripts

HELLO = """\
clock! starts
clock> hello protocol=1
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={1-20000} state=inactive reason=launch
clock> done seq=1
clock< did-finish-launching seq=2 deadline-ms={1-20000} state=inactive reason=launch
clock> done seq=2
clock< did-become-active seq=3 deadline-ms={1-5000} state=active
"""
ACTIVE = f"$ lifectl launch clock --wait answered\n{HELLO}clock> done seq=3\n= 0\n"
LEAVES = """\
clock< will-resign-active seq=4 deadline-ms={1-1000} state=active
clock> done seq=4
clock< did-enter-background seq=5 deadline-ms={1-5000} state=background background-ms={1-30000}
"""
SUSPENDED = f"{ACTIVE}$ lifectl home\n{LEAVES}= 0\nclock> done seq=5\nclock: suspended\n"
TASK = f"{ACTIVE}clock> begin-task id=1 name=upload\nclock< granted id=1\n$ lifectl home\n{LEAVES}= 0\nclock> done seq=5\n"
CALL = "$ lifectl interrupt begin --name call\n"


@pytest.fixture
def replay(direct, tmp_path):
    yield lambda text: transcripts.Replay(direct, tmp_path).run([line for line in text.split("\n") if line])
    # Apps end with a daemon that ends in order.
    if direct.process.poll() is not None:
        direct.start()


def launched_again(state):
    """The next launch of clock tells of a crash in this state."""
    previous = f"restore=1 previous-state={state} previous-reason=crash previous-time={{1-9999999999}}"
    return f"""\
clock: notRunning
$ lifectl launch clock --background
clock! starts
clock> hello protocol=1
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={{1-20000}} state=inactive reason=launch {previous}
clock> done seq=1
clock< did-finish-launching seq=2 deadline-ms={{1-20000}} state=background reason=launch {previous}
clock> done seq=2
= 0
clock: suspended
"""


# Crashes


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        (f"{ACTIVE}$ lifectl home\nclock< will-resign-active seq=4 deadline-ms={{1-1000}} state=active\nclock! crashes\n= 0\n", "active"),
        (f"{ACTIVE}$ lifectl home\n{LEAVES}= 0\nclock! crashes\n", "background"),
        (f"{TASK}clock: background\nclock! crashes\n", "background"),
        (
            f"{SUSPENDED}$ lifectl focus clock\n"
            "clock< will-enter-foreground seq=6 deadline-ms={1-5000} state=background\nclock! crashes\n= 8\n",
            "background",
        ),
        (
            f"{ACTIVE}$ lifectl open example:page\n"
            "clock< open-url seq=4 deadline-ms={1-5000} state=active url=example:page\nclock! crashes\n= 8\n",
            "active",
        ),
        (
            f"{SUSPENDED}$ lifectl wake clock --for fetch\n"
            "clock< perform-task seq=6 deadline-ms={1-30000} state=background kind=fetch\nclock! crashes\n= 8\n",
            "background",
        ),
    ],
    ids=[
        "in will-resign-active", "in did-enter-background", "with a task", "in will-enter-foreground", "in open-url",
        "in perform-task",
    ],
)
def test_a_crash_is_a_crash_in_the_state_of_that_moment(replay, lines, state):
    replay(f'clock.toml: schemes = ["example"]\nclock.toml: backgroundModes = ["fetch"]\n{lines}{launched_again(state)}')


@pytest.mark.parametrize("wait", ["", "--wait answered"])
def test_a_launch_fails_with_a_crash_in_a_launch_callback(replay, wait):
    replay(f"""\
clock.toml: callbacks = "required"
$ lifectl launch clock {wait}
clock! starts
clock> hello protocol=1
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={{1-20000}} state=inactive reason=launch
clock! crashes
= 8
clock: notRunning
""")


# Hello


@pytest.mark.parametrize("callbacks", ["auto", "required"])
def test_resume_0_is_a_first_hello_after_a_crash_of_the_daemon(replay, callbacks):
    state = "inactive" if callbacks == "required" else "active"
    replay(f"""\
clock.toml: callbacks = "{callbacks}"
$ lifectl launch clock
clock! starts
clock: {state}
lifed! is killed
= {69 if callbacks == "required" else 0}
clock! loses its channel
lifed! starts
clock! connects
clock> hello protocol=1 resume=0
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={{1-20000}} state=inactive reason=launch
clock> done seq=1
clock< did-finish-launching seq=2 deadline-ms={{1-20000}} state=inactive reason=launch
clock> done seq=2
clock< did-become-active seq=3 deadline-ms={{1-5000}} state=active
clock> done seq=3
clock: active
""")


def test_a_late_hello_makes_the_app_inactive_as_everybody_sees(replay):
    replay("""\
$ lifectl launch clock
clock! starts
= 0
clock: active
clock> hello protocol=1
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={1-20000} state=inactive reason=launch
clock: inactive
clock> done seq=1
clock< did-finish-launching seq=2 deadline-ms={1-20000} state=inactive reason=launch
clock> done seq=2
clock< did-become-active seq=3 deadline-ms={1-5000} state=active
clock: active
clock> done seq=3
""")


def test_a_late_hello_of_an_app_with_scenes_makes_it_inactive_too(replay):
    replay("""\
clock.toml: scenes = true
$ lifectl launch clock
clock! starts
= 0
clock: active
clock> hello protocol=1
clock< welcome protocol=1 app-id=clock
clock< will-finish-launching seq=1 deadline-ms={1-20000} state=inactive reason=launch
clock: inactive
clock> done seq=1
clock< did-finish-launching seq=2 deadline-ms={1-20000} state=inactive reason=launch
clock> done seq=2
clock< scene-will-connect seq=3 deadline-ms={1-5000} state=inactive scene=main role=window reason=user
clock> done seq=3
clock< scene-will-enter-foreground seq=4 deadline-ms={1-5000} state=inactive scene=main
clock> done seq=4
clock< scene-did-become-active seq=5 deadline-ms={1-5000} state=active scene=main
clock: active
clock> done seq=5
""")


# Times


def test_a_launch_callback_has_the_time_that_is_left_of_the_launch(replay):
    replay(f"""\
clock.toml: callbacks = "required"
{ACTIVE.replace("did-finish-launching seq=2 deadline-ms={1-20000}", "did-finish-launching seq=2 deadline-ms={1-19999}")}
""")


def test_tasks_that_expire_have_the_time_that_is_left_after_a_restart(replay):
    replay(f"""\
lifed.toml: [timeouts]
lifed.toml: task = "100ms"
lifed.toml: taskExpiration = "60s"
{TASK}
clock< expire-task id=1 deadline-ms={{59000-60000}}
lifed! is killed
clock! loses its channel
lifed! starts
clock! connects
clock> hello protocol=1 resume=5
clock> begin-task id=1 name=upload
clock> done seq=5
clock< welcome protocol=1 app-id=clock
clock< expire-task id=1 deadline-ms={{1-59990}}
clock< granted id=1 time-left-ms={{0-59990}}
clock> end-task id=1
clock: suspended
""")


def test_an_app_that_loses_its_channel_in_the_background_has_its_time_there(replay):
    begin = time.monotonic()
    replay(f"""\
lifed.toml: [timeouts]
lifed.toml: background = "3s"
{ACTIVE}
$ lifectl home
{LEAVES}
= 0
clock! closes
clock: background
clock: suspended
""")
    # However long the rest took, it was not stopped before.
    assert time.monotonic() - begin >= 3


# will-resign-active


@pytest.mark.parametrize(
    ("unanswered", "outstanding"),
    [
        (f"$ lifectl launch clock\n{HELLO}= 0\n", 3),
        (
            f"{ACTIVE}$ lifectl open example:page\n"
            "clock< open-url seq=4 deadline-ms={1-3600000} state=active url=example:page\n",
            4,
        ),
    ],
    ids=["did-become-active", "open-url"],
)
def test_will_resign_active_is_sent_behind_a_callback_without_an_answer(replay, unanswered, outstanding):
    # It does not matter any more if the app could open it.
    overtaken = "= 4\n" if outstanding == 4 else ""
    replay(f"""\
lifed.toml: [timeouts]
lifed.toml: willResignActive = "30s"
lifed.toml: callback = "1h"
clock.toml: schemes = ["example"]
{unanswered.replace("deadline-ms={1-5000}", "deadline-ms={1-3600000}")}
$ lifectl launch mail
clock< will-resign-active seq={outstanding + 1} deadline-ms={{1-30000}} state=active
mail! starts
mail> hello protocol=1
mail< welcome protocol=1 app-id=mail
mail< will-finish-launching seq=1 deadline-ms={{1-20000}} state=inactive reason=launch
mail> done seq=1
mail< did-finish-launching seq=2 deadline-ms={{1-20000}} state=inactive reason=launch
mail> done seq=2
mail: inactive
{overtaken}clock> done seq={outstanding}
clock> done seq={outstanding + 1}
mail< did-become-active seq=3 deadline-ms={{1-3600000}} state=active
mail> done seq=3
= 0
clock< did-enter-background seq={outstanding + 2} deadline-ms={{1-5000}} state=background background-ms=30000
clock> done seq={outstanding + 2}
clock: suspended
""")


# Suspend


def test_suspend_expires_tasks_at_once(replay):
    replay(f"""\
lifed.toml: [timeouts]
lifed.toml: task = "1h"
{TASK.replace("background-ms={1-30000}", "background-ms={1-3600000}")}
clock: background
$ lifectl suspend clock
clock< expire-task id=1 deadline-ms={{1-5000}}
clock> end-task id=1
= 0
clock: suspended
""")


def test_suspend_now_stops_an_app_with_a_task_at_once(replay):
    replay(f"{TASK}clock: background\n$ lifectl suspend --now clock\n= 0\nclock: suspended\n")


def test_a_background_mode_is_suspended_with_now_alone(replay):
    replay(f"""\
clock.toml: backgroundModes = ["audio"]
{ACTIVE}
clock> begin-activity id=1 mode=audio
clock< granted id=1
$ lifectl home
{LEAVES}
= 0
clock> done seq=5
$ lifectl suspend clock
= 2
clock: background
$ lifectl suspend --now clock
= 0
clock: suspended
""")


# Interruptions and locks


MAIL_STARTS = """\
mail! starts
mail> hello protocol=1
mail< welcome protocol=1 app-id=mail
mail< will-finish-launching seq=1 deadline-ms={1-20000} state=inactive reason=launch
mail> done seq=1
mail< did-finish-launching seq=2 deadline-ms={1-20000} state=inactive reason=launch
mail> done seq=2
"""
INTERRUPTED = f"""\
{ACTIVE}
{CALL}
clock< will-resign-active seq=4 deadline-ms={{1-1000}} state=active
clock> done seq=4
= 0
"""
GOES = "clock< did-enter-background seq=5 deadline-ms={1-5000} state=background background-ms=30000\nclock> done seq=5\n"


def test_a_launch_ends_no_interruption(replay):
    replay(f"""\
{INTERRUPTED}
$ lifectl launch mail
{GOES}
= 6
{MAIL_STARTS}
mail: inactive
clock: suspended
$ lifectl interrupt end --name call
mail< did-become-active seq=3 deadline-ms={{1-5000}} state=active
= 0
mail> done seq=3
""")


def test_a_focus_ends_no_interruption(replay):
    replay(f"""\
{SUSPENDED}
{CALL}
= 0
$ lifectl focus clock
= 6
clock< will-enter-foreground seq=6 deadline-ms={{1-5000}} state=background
clock> done seq=6
clock: inactive
$ lifectl interrupt end --name call
clock< did-become-active seq=7 deadline-ms={{1-5000}} state=active
= 0
clock> done seq=7
""")


def test_an_open_ends_no_interruption(replay):
    replay(f"""\
clock.toml: schemes = ["example"]
{INTERRUPTED}
$ lifectl open example:page
clock< open-url seq=5 deadline-ms={{1-5000}} state=inactive url=example:page
clock> done seq=5 handled=yes
= 0
clock: inactive
$ lifectl interrupt end --name call
clock< did-become-active seq=6 deadline-ms={{1-5000}} state=active
= 0
clock> done seq=6
""")


def test_the_end_of_an_unknown_interruption_is_refused_and_changes_nothing(replay):
    replay(f"""\
{SUSPENDED}
$ lifectl interrupt end --name call --answer clock
= 12
clock: suspended
$ lifectl interrupt end --name call
= 12
""")


def test_an_answered_interruption_changes_the_app_in_one_step(replay):
    replay(f"""\
{INTERRUPTED}
$ lifectl interrupt end --name call --answer mail
{GOES}
{MAIL_STARTS}
mail< did-become-active seq=3 deadline-ms={{1-5000}} state=active
= 0
mail> done seq=3
clock: suspended
""")


RETURNS = f"{SUSPENDED}$ lifectl focus clock\nclock< will-enter-foreground seq=6 deadline-ms={{1-5000}} state=background\n"


@pytest.mark.parametrize("is_locked", [False, True], ids=["interruption", "lock"])
def test_what_begins_in_will_enter_foreground_keeps_the_app_from_being_active(replay, is_locked):
    begin, end = ("simulate lock", "simulate unlock") if is_locked else ("interrupt begin", "interrupt end")
    after = """\
clock< protected-data-will-become-unavailable seq=7 deadline-ms={1-5000} state=inactive
clock> done seq=7
clock< did-enter-background seq=8 deadline-ms={1-5000} state=background background-ms=30000
clock> done seq=8
clock: suspended
""" if is_locked else "clock: inactive\n"
    back = """\
clock< will-enter-foreground seq=9 deadline-ms={1-5000} state=background
clock> done seq=9
clock< protected-data-did-become-available seq=10 deadline-ms={1-5000} state=inactive
clock> done seq=10
clock< did-become-active seq=11 deadline-ms={1-5000} state=active
clock> done seq=11
""" if is_locked else "clock< did-become-active seq=7 deadline-ms={1-5000} state=active\nclock> done seq=7\n"
    replay(f"{RETURNS}$ lifectl {begin}\n= {4 if is_locked else 6}\nclock> done seq=6\n{after}= 0\n$ lifectl {end}\n{back}= 0\nclock: active\n")
