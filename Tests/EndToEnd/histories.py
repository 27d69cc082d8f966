"""Random histories in which each thing that may happen is as likely as any other.

Left to choose among rules, hypothesis leaves most of them out of most histories; in the few histories of a suite that are
always the same, some then never happen at all.
"""

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule


def action(**strategies):
    """Marks a method as something that may happen, with what its arguments are drawn from."""

    def mark(method):
        method.drawn_from = strategies
        return method

    return mark


class History(RuleBasedStateMachine):
    @rule(data=st.data())
    def something_happens(self, data):
        names = [name for name, each in vars(type(self)).items() if hasattr(each, "drawn_from")]
        method = getattr(self, data.draw(st.sampled_from(names), label="what happens"))
        method(**{name: data.draw(strategy, label=name) for name, strategy in method.drawn_from.items()})
