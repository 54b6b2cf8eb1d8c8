"""What can happen, and what it adds up to: vocabulary, state, evolve, replay, views; no rules."""
