"""A program that takes its time to save when it is asked to end: saver.py LOG HOW. It writes what happens to LOG.

HOW: "alone" saves by itself; "helped" needs its helper for it; "together" saves when its helper was asked to end, too; "outlived" has a
helper that says when it is asked, and goes on.
"""

import os
import signal
import sys
import time

STEPS, PAUSE = 50, 0.005


def say(text):
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{text}\n".encode())
    os.close(log)


def said(text):
    with open(sys.argv[1], "a+") as log:
        log.seek(0)
        return text in log.read().splitlines()


class Helper:
    """A child that answers as long as it is not asked to end."""

    def __init__(self, ends):
        questions, self.questions = os.pipe()
        self.answers, answers = os.pipe()
        if os.fork() == 0:
            os.close(self.questions)
            self.run(questions, answers, ends)
        os.close(questions)
        os.close(answers)

    def run(self, questions, answers, ends):
        def end(*_):
            say("helper asked")
            if ends:
                os._exit(0)

        signal.signal(signal.SIGTERM, end)
        say("helper ready")
        while os.read(questions, 1):
            os.write(answers, b".")
        while True:
            signal.pause()

    def help(self):
        os.write(self.questions, b"?")
        return os.read(self.answers, 1) == b"."


def main():
    how = sys.argv[2]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    helper = Helper(ends=how != "outlived") if how != "alone" else None
    parent = os.getppid()

    def save(*_):
        say("asked")
        while how == "together" and not said("helper asked"):
            time.sleep(PAUSE)
        for _ in range(STEPS):
            time.sleep(PAUSE)
            if how == "helped" and not helper.help():
                os._exit(2)
            if how == "alone" and os.getppid() != parent:
                os._exit(3)
        say("saved")
        os._exit(0)

    signal.signal(signal.SIGTERM, save)
    if helper:
        while not said("helper ready"):
            time.sleep(PAUSE)
    say("ready")
    while True:
        signal.pause()


main()
