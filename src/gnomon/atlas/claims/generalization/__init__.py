"""What training data promise for new examples."""
