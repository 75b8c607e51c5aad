// `import PrephirencesRecords` is enough, with GRDB for the databases.
@_exported public import Prephirences
