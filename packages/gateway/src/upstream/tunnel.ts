import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { ProxyServer } from '../catalogue/catalogue.ts';
import { connectionOf, ignoreError, type OnDialled, tcpOptions } from './socket.ts';

/** More than any proxy has to say. */
const answerBytesMax = 16_384;

/** The proxy in words: host and port. Its URL has been checked where it was written. */
export function nameOfProxy({ url }: ProxyServer): string {
  return `the proxy ${URL.parse(url)?.host ?? url}`;
}

/**
 * Opens a connection to a proxy and has it open one to `authority` (RFC 9110, 9.3.6). Everything that goes wrong on the way is
 * said to be the proxy's: nothing of a request has been sent.
 * @param onread takes what comes through the tunnel; undefined where TLS is spoken inside.
 * @returns gives up: `onOpened` is not called any more.
 */
export function openTunnel(
  proxy: ProxyServer,
  authority: string,
  secureContext: () => SecureContext,
  onread: TcpNetConnectOpts['onread'],
  onOpened: OnDialled,
): () => void {
  const name = nameOfProxy(proxy);
  const refuse = (reason: string) => onOpened(fail({ kind: 'unreachable', detail: `${name} ${reason}` }));
  const answer = new ConnectAnswer(onread);
  const socket = connectToProxy(proxy, secureContext, answer.onread);
  const isSecure = proxy.url.startsWith('https:');
  let giveUp = connectionOf(socket, isSecure ? 'secureConnect' : 'connect', (connected) => {
    if (!connected.ok) return refuse(`cannot be reached: ${connected.error.detail}`);
    giveUp = answer.await(socket, (opened) => {
      if (opened.ok) onOpened(succeed(socket));
      else refuse(opened.error);
    });
    const credential = proxy.authorization === null ? '' : `proxy-authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credential}\r\n`, 'latin1');
  });
  return () => giveUp();
}

function connectToProxy(
  { url }: ProxyServer,
  secureContext: () => SecureContext,
  onread: TcpNetConnectOpts['onread'],
): Socket {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const usualPort = isSecure ? 443 : 80;
  const tcp = {
    ...tcpOptions(host, port === '' ? usualPort : Number(port)),
    ...(onread === undefined ? {} : { onread }),
  };
  if (!isSecure) return connectTcp(tcp);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...tcp, ...servername, secureContext: secureContext(), rejectUnauthorized: true });
}

/** The answer of a proxy to CONNECT, read from the socket before anything else is. */
class ConnectAnswer {
  /** For the options of the socket, where what comes after the answer is read in the same way. */
  readonly onread: TcpNetConnectOpts['onread'];
  #text = '';
  #isOpen = false;
  #take: ((bytes: Uint8Array) => void) | null = null;

  constructor(onread: TcpNetConnectOpts['onread']) {
    this.onread =
      onread === undefined
        ? undefined
        : {
            buffer: onread.buffer,
            callback: (length, bytes) => {
              if (this.#isOpen) return onread.callback(length, bytes);
              this.#take?.(bytes.subarray(0, length));
              return true;
            },
          };
  }

  /** Calls `onAnswer` once: with the reason where there is no tunnel. */
  await(socket: Socket, onAnswer: (answer: Result<null, string>) => void): () => void {
    const stop = () => {
      this.#take = null;
      socket.off('data', take).off('end', onEnd).off('close', onEnd).off('error', onError);
    };
    const giveUp = () => {
      stop();
      socket.on('error', ignoreError).destroy();
    };
    const finish = (answer: Result<null, string>) => {
      if (answer.ok) stop();
      else giveUp();
      this.#isOpen = answer.ok;
      onAnswer(answer);
    };
    const take = (bytes: Uint8Array) => {
      const answer = this.#read(bytes);
      if (answer !== null) finish(answer);
    };
    const onEnd = () => finish(fail('closed the connection instead of answering CONNECT'));
    const onError = (error: Error) =>
      finish(fail(`broke the connection before it answered CONNECT: ${error.message}`));
    socket.on('end', onEnd).on('close', onEnd).on('error', onError);
    this.#take = take;
    if (this.onread === undefined) socket.on('data', take);
    else socket.resume();
    return giveUp;
  }

  /** Null while there is more to come. */
  #read(bytes: Uint8Array): Result<null, string> | null {
    this.#text += Buffer.from(bytes).toString('latin1');
    const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(this.#text) ?? [];
    const isBeginning =
      'HTTP/1.1 200 '.length > this.#text.length && /^(H|HT|HTT|HTTP(\/.*)?)$/.test(this.#text);
    if (status === undefined) return isBeginning ? null : fail('does not answer CONNECT in HTTP');
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return this.#text.length > answerBytesMax ? fail('answers CONNECT without an end') : null;
    if (status === '407') return fail('wants another user or password (407)');
    if (!status.startsWith('2')) return fail(`answers CONNECT with ${status}`);
    // Whoever is behind it does not speak before it is spoken to: these bytes would be read as the answer to our request.
    return this.#text.length > end + 4 ? fail('goes on speaking after its answer to CONNECT') : succeed(null);
  }
}
