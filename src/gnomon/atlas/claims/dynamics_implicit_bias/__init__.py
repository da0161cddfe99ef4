"""Which of many solutions training finds: the start, the steps, the noise and the architecture decide."""
