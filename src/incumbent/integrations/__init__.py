"""Adapters: Incumbent inside the agent frameworks that people already use.

Each is a module of its own behind an extra (`incumbent[langchain]`), imported by its name:
`from incumbent.integrations.langchain import IncumbentMiddleware`. All of them stand on
`incumbent.integrations.agent_memory`, which a framework that has no adapter can be joined to as
well.
"""
