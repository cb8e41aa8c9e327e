"""The inspector: pages on which a person sees what an agent believes, and puts it right.

Part of the service. It uses the public operations alone, through the same credentials, scopes and
permissions as every other caller.
"""
