"""Networks for the cases. The option ``wrong`` names the fault that is built into a network; by default it has none."""
