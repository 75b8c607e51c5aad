// One `import PrephirencesRecords` is all that a program needs beside GRDB, which has its databases.
@_exported public import Prephirences
