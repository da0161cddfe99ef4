"""Architecture claims: which functions networks can represent, and how closely they approximate others."""
