// Declarations that the code blocks of the documents leave to their readers.
import ArgumentParser

struct Deploy: ParsableCommand {}
