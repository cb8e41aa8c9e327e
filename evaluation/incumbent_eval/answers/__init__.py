"""Answers: questions with contexts, for any model or person to answer blind, and their score."""
