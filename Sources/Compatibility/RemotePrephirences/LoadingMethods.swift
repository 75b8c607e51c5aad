#if RemotePreferences
extension RemoteSource {
  /// Describes preferences at a URL; an invalid URL is reported when loading.
  public convenience init(
    _ url: any URLConvertible, format: SerializationFormat = .json(),
    options: RemoteOptions = RemoteOptions()
  ) {
    self.init(url, format: format, options: options, transport: HTTPTransport())
  }
}

extension MutablePreferencesType {
  /// Loads preferences from a URL; see ``RemoteSource``.
  ///
  /// - Throws: The errors of ``RemoteSource/load(into:)``.
  @discardableResult
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await RemoteSource(url, format: format, options: options).load(into: self)
  }

  /// Loads preferences from JSON at a URL; see ``RemoteSource``.
  ///
  /// - Throws: The errors of ``RemoteSource/load(into:)``.
  @discardableResult
  public func loadJSON(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await load(from: url, format: .json(), options: options)
  }

  /// Loads preferences from a property list at a URL; see ``RemoteSource``.
  ///
  /// - Throws: The errors of ``RemoteSource/load(into:)``.
  @discardableResult
  public func loadPropertyList(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await load(from: url, format: .propertyList(), options: options)
  }
}

extension MutablePreferencesType {
  /// Starts loading preferences from a URL; see ``RemoteSource``.
  ///
  /// The values are set on another thread.
  ///
  /// - Parameter completionHandler: Receives the result, on any thread.
  /// - Returns: The load, which can be cancelled.
  @discardableResult
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    RemoteSource(url, format: format, options: options).load(into: self, completionHandler)
  }

  /// Starts loading preferences from JSON at a URL; see
  /// ``load(from:format:options:completionHandler:)``.
  @discardableResult
  public func loadJSON(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    load(from: url, format: .json(), options: options, completionHandler: completionHandler)
  }

  /// Starts loading preferences from a property list at a URL; see
  /// ``load(from:format:options:completionHandler:)``.
  @discardableResult
  public func loadPropertyList(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    load(
      from: url, format: .propertyList(), options: options, completionHandler: completionHandler)
  }
}
#endif
