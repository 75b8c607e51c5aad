// A program needs only `import RemotePrephirences`.
@_exported public import Prephirences
