"""The report: the results of a run of all evaluations, as one document, and pages made from it.

`document` is written down and read back, `sections` puts each evaluation into words, `markdown` and
`html` make pages from the document alone.
"""
