import { type FleetMember, startSimulatorFleet } from '@headgate/simulator';
import { pace, preferredWords, type Scene, spareWords } from './scenes.ts';

/** The two upstreams of a scene. What a gateway learns of one scene says nothing of the next. */
export interface Tiers {
  readonly scene: Scene;
  readonly preferred: FleetMember;
  readonly spare: FleetMember;
}

export interface Upstreams {
  readonly tiers: readonly Tiers[];
  close(): Promise<void>;
}

/** `firstPort`: each scene has two ports, its preferred upstream on the first; 0 takes any that are free. */
export async function startUpstreams(scenes: readonly Scene[], firstPort: number): Promise<Upstreams> {
  const port = (place: number) => (firstPort === 0 ? 0 : firstPort + place);
  const fleet = await startSimulatorFleet(
    scenes.flatMap((_, place) => [
      { script: wellScript(preferredWords), port: port(2 * place) },
      { script: wellScript(spareWords), port: port(2 * place + 1) },
    ]),
  );
  const tiers = scenes.map((scene, place) => ({
    scene,
    preferred: memberAt(fleet.members, 2 * place),
    spare: memberAt(fleet.members, 2 * place + 1),
  }));
  return { tiers, close: () => fleet.close() };
}

function memberAt(members: readonly FleetMember[], place: number): FleetMember {
  const member = members[place];
  if (member === undefined) throw new Error(`there is no simulator ${place}`);
  return member;
}

function wellScript(words: number): string {
  return `tokens=${words},${pace}`;
}

export function strike({ scene: { fault }, preferred }: Tiers): Promise<void> {
  if (fault === null) return preferred.goDown();
  return preferred.setScript(`${wellScript(preferredWords)}${fault === '' ? '' : `,${fault}`}`);
}

export function mend({ scene: { fault }, preferred }: Tiers): Promise<void> {
  return fault === null ? preferred.comeUp() : preferred.setScript(wellScript(preferredWords));
}
