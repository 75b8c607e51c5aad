// A program needs only `import PrephirencesRecords`, and GRDB for its databases.
@_exported public import Prephirences
