"""The loop, the weak learners and the kernels beneath them."""
