"""What architectures can express: regions on which a network is linear, and functions it comes near to."""
