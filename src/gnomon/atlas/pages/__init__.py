"""The atlas as pages: one for each claim, an index that can be searched, and what covers each statement."""
