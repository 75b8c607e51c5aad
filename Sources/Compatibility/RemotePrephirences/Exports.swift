// `import RemotePrephirences` is enough.
@_exported public import Prephirences
