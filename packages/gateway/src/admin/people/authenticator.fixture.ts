import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** An authenticator in software, which does what it is told even where a real one would refuse. */
export class TestAuthenticator {
  readonly credentialId = randomBytes(16);
  readonly #key: KeyObject;
  readonly #point: Buffer;
  count = 0;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#key = privateKey;
    this.#point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  }

  make(options: object, origin: string, host = new URL(origin).hostname): RegistrationResponseJSON {
    const clientData = clientDataOf('webauthn.create', options, origin);
    const [x, y] = [this.#point.subarray(0, 32), this.#point.subarray(32)];
    // COSE of an EC2 key: kty 2, alg ES256, crv P-256.
    const cose = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      x,
      Buffer.from('225820', 'hex'),
      y,
    ]);
    const length = Buffer.from([0, this.credentialId.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.credentialId, cose]);
    const data = Buffer.concat([this.#authenticatorData(host, 0x45), attested]);
    // {fmt: "none", attStmt: {}, authData}
    const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex');
    const attestation = Buffer.concat([head, Buffer.from([data.length]), data]);
    const response = {
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestation.toString('base64url'),
    };
    return { ...this.#common(), response };
  }

  prove(
    options: object,
    origin: string,
    { host = new URL(origin).hostname, flags = 0x05, userHandle = '' } = {},
  ): AuthenticationResponseJSON {
    this.count++;
    const clientData = clientDataOf('webauthn.get', options, origin);
    const data = this.#authenticatorData(host, flags);
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    return {
      ...this.#common(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, this.#key).toString('base64url'),
        userHandle,
      },
    };
  }

  #common() {
    const id = this.credentialId.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
  }

  #authenticatorData(host: string, flags: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.count);
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags]), count]);
  }
}

function clientDataOf(type: string, options: object, origin: string): Buffer {
  const challenge: unknown = Reflect.get(options, 'challenge');
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}
