#if RemotePreferences
internal import NIOCore

/// Closes a connection that receives more than one answer may contain.
///
/// The limit of the content does not include headers, trailers and framing, which the client would
/// collect without limit.
final class ConnectionLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private static let allowance = 256 << 10

  private let options: RemoteOptions
  private var remaining: Int

  init(_ options: RemoteOptions) {
    self.options = options
    remaining = min(max(0, options.sizeLimit), .max / 4) * 2 + Self.allowance
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    remaining -= unwrapInboundIn(data).readableBytes
    if remaining >= 0 { return context.fireChannelRead(data) }
    context.fireErrorCaught(RemoteError.tooLarge(options))
    context.close(promise: nil)
  }
}
#endif
