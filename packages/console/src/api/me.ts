/** The answer to `GET /me`: who asks, and where. */
export interface Me {
  readonly person: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly isOperator: boolean;
    readonly language: string | null;
    readonly theme: string | null;
  } | null;
  readonly accounts: readonly Membership[];
  readonly deployment: {
    readonly name: string;
    readonly apiOrigin: string;
    readonly consoleOrigin: string | null;
    readonly language: string | null;
    readonly currency: string;
    readonly siblings: readonly { readonly name: string; readonly url: string }[];
  };
}

/** An account that the person belongs to, and as what. */
export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

export type Role = 'viewer' | 'member' | 'admin';
