"""The report: what a run of all evaluations came to, as one document, and pages made from it.

`document` is what is written down and read back, `sections` puts each evaluation into its words,
`markdown` and `html` make pages from the document alone.
"""
