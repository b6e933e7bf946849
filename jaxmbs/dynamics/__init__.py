"""Pure functions of a mechanism and its state, in the kernel layout (elements, lanes)."""
