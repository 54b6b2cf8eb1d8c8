"""Events of a hand, and the state they add up to: vocabulary, evolve, replay, views; no rules."""
