// What the blocks of the documents leave to their reader.
import ArgumentParser

struct Deploy: ParsableCommand {}
