// One `import PrephirencesCookies` is all that a program needs.
@_exported public import Prephirences
