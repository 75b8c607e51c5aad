#if !RemotePreferences
// If a program does not enable the trait, the compiler reports it at each call that loads.

extension RemoteSource {
  /// Requires the trait.
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
  /// Requires the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions()
  ) {}

  /// Requires the trait.
  @available(
    *, unavailable,
    message: "depend on the package Prephirences with traits: [\"RemotePreferences\"]"
  )
  public func loadJSON(from url: any URLConvertible, options: RemoteOptions = RemoteOptions()) {}

  /// Requires the trait.
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
