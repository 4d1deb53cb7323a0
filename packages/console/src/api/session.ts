/** The answer to `GET /session`: who asks, and where. */
export interface SessionAnswer {
  /** Null for nobody. */
  readonly person: {
    readonly id: string;
    readonly login: string;
    readonly name: string;
    readonly isOperator: boolean;
    readonly language: string | null;
    readonly theme: string | null;
  } | null;
  readonly memberships: readonly {
    readonly account: { readonly id: string; readonly name: string };
    readonly role: Role;
  }[];
  readonly deployment: {
    readonly name: string;
    readonly apiOrigin: string;
    readonly consoleOrigin: string | null;
    readonly language: string | null;
    readonly currency: string;
    readonly siblings: readonly { readonly name: string; readonly url: string }[];
  };
  /** False before the first operator has been made. */
  readonly isSetUp: boolean;
}

export type Role = 'viewer' | 'member' | 'admin';
