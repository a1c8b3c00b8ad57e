"""Runs a workload under Nsight Compute with the counters that an analysis needs.

``ncu`` finds and knows the tool; ``permission`` asks beforehand whether counters are allowed; ``tiers`` and
``availability`` decide the metrics; ``command`` writes the command line; ``process`` runs it; ``messages`` explains
what went wrong; ``sidecar`` keeps what the report cannot hold; ``session`` ties them together.
Facts about ncu are rows in ``data/``.
"""
