"""What vectors are good for: utility tasks, scored by the same runner as attacks. None is built in yet."""
