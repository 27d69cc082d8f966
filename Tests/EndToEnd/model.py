"""What docs and manifests promise about apps that are not connected, in a few lines: the model that the real daemon is
compared with. It knows states of rest only; how one is reached is the business of other tests."""

from dataclasses import dataclass, field

DONE, FAILED, REFUSED, NOT_RUNNING, INTERRUPTED = 0, 71, 2, 3, 6
USAGE, INVALID_APP, NO_SUCH_APP, LAUNCH_FAILED, NO_SUCH_INTERRUPTION = 64, 65, 66, 11, 12
INTERRUPTION_LIMIT = 64


@dataclass
class Model:
    """Each command changes the model as it should change the apps, and returns lifectl's exit status."""

    foreground_limit: int
    declared: frozenset
    never_suspended: frozenset
    running: set = field(default_factory=set)
    ad_hoc: set = field(default_factory=set)
    awake: set = field(default_factory=set)
    # The latest first.
    front: list = field(default_factory=list)
    interruptions: set = field(default_factory=set)
    locked: bool = False

    def known(self, app):
        return app in self.declared or app in self.ad_hoc

    def apps(self):
        return self.declared | self.ad_hoc

    def state(self, app):
        if app not in self.running:
            return "notRunning"
        if self.in_sight(app):
            return "inactive" if self.interruptions else "active"
        return "background" if app in self.awake | self.never_suspended else "suspended"

    def in_sight(self, app):
        return app in self.front and not self.locked

    # What users ask for

    def launch(self, app):
        if not self.known(app):
            return NO_SUCH_APP
        self.running.add(app)
        return self._bring_to_front(app)

    def launch_in_background(self, app):
        if not self.known(app):
            return NO_SUCH_APP
        self.running.add(app)
        return DONE

    def run(self, app, valid=True, exists=True):
        if self.known(app) or not valid:
            return INVALID_APP
        if not exists:
            # The foreground app makes room for it, and comes back.
            front = self.front.copy()
            self._bring_to_front(app)
            self.front = front
            return REFUSED if self.locked else LAUNCH_FAILED
        self.ad_hoc.add(app)
        return self.launch(app)

    def focus(self, app):
        return self._unless_alive(app) or self._bring_to_front(app)

    def home(self):
        self.front.clear()
        return DONE

    def suspend(self, app):
        if refusal := self._unless_alive(app):
            return refusal
        if app in self.never_suspended:
            return REFUSED
        self.awake.discard(app)
        self._leave_front(app)
        return DONE

    def resume(self, app):
        if refusal := self._unless_alive(app):
            return refusal
        if not self.in_sight(app):
            self.awake.add(app)
        return DONE

    def end(self, app):
        if refusal := self._unless_alive(app):
            return refusal
        self.ended(app)
        return DONE

    def begin_interruption(self, name):
        if name not in self.interruptions and len(self.interruptions) == INTERRUPTION_LIMIT:
            return REFUSED
        self.interruptions.add(name)
        return DONE

    def end_interruption(self, name):
        if name not in self.interruptions:
            return NO_SUCH_INTERRUPTION
        self.interruptions.discard(name)
        return DONE

    def lock(self):
        self.locked = True
        return DONE

    def unlock(self):
        self.locked = False
        self.awake -= set(self.front)
        return DONE

    # What happens

    def ended(self, app):
        """By whatever cause. An ad-hoc app is forgotten then."""
        self.running.discard(app)
        self.awake.discard(app)
        self.ad_hoc.discard(app)
        self._leave_front(app)

    def _unless_alive(self, app):
        if not self.known(app):
            return NO_SUCH_APP
        return DONE if app in self.running else NOT_RUNNING

    def _leave_front(self, app):
        if app in self.front:
            self.front.remove(app)

    def _bring_to_front(self, app):
        if not self.locked:
            # Behind a lock it has not been in the foreground yet.
            self.awake.discard(app)
        self._leave_front(app)
        self.front.insert(0, app)
        del self.front[self.foreground_limit :]
        if self.locked:
            return REFUSED
        return INTERRUPTED if self.interruptions else DONE
