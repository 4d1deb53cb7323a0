declare const nanoUsdBrand: unique symbol;
declare const picoUsdBrand: unique symbol;

/** An amount in nano-dollars (10⁻⁹ USD). Signed; fits an int64 in the store. */
export type NanoUsd = bigint & { readonly [nanoUsdBrand]: true };

/** A price per single unit in pico-dollars (10⁻¹² USD); the same number is micro-dollars per million units. */
export type PicoUsd = bigint & { readonly [picoUsdBrand]: true };

export const zeroNanoUsd = nanoUsd(0n);

/** The constructor of the branded type: the one place that may assert it. */
export function nanoUsd(amount: bigint): NanoUsd {
  return amount as NanoUsd;
}

export function picoUsd(price: bigint): PicoUsd {
  return price as PicoUsd;
}
