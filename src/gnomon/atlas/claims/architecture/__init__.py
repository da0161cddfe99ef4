"""Claims about architectures: which functions networks represent, and how closely they approximate others."""
