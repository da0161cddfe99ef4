"""Builds a release and tries it as a user would: archives, fresh environments, README, versioned documentation."""
