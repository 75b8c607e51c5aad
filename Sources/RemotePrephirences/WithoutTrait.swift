#if !RemotePreferences
// A program that forgot the trait is told so by the compiler, where it wants to load.

extension RemoteSource {
  /// Asks for the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public convenience init(
    _ url: any URLConvertible, format: SerializationFormat = .json(),
    options: RemoteOptions = RemoteOptions()
  ) {
    self.init(url, format: format, options: options, transport: NoTransport())
  }
}

extension MutablePreferencesType {
  /// Asks for the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions()
  ) {}

  /// Asks for the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public func loadJSON(from url: any URLConvertible, options: RemoteOptions = RemoteOptions()) {}

  /// Asks for the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public func loadPropertyList(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions()
  ) {}
}

private struct NoTransport: RemoteTransport {
  func send(_ request: RemoteRequest, _ options: RemoteOptions) async throws -> RemoteResponse {
    throw RemoteError(.unreachable, "loading is not built in")
  }
}
#endif
