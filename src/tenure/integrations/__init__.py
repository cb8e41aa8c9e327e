"""Adapters: Tenure inside the agent frameworks that people already use.

Each is a module of its own behind an extra (`tenure[langchain]`), imported by its name:
`from tenure.integrations.langchain import TenureMiddleware`. All of them stand on
`tenure.integrations.agent_memory`, which a framework that has no adapter can be joined to as well.
"""
