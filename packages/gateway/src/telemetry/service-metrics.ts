import type { Outcome } from '../core/route/outcome/outcome.ts';
import { exposeSamples } from './exposition.ts';
import { LabelTable } from './label-table.ts';

interface Count {
  value: number;
}

/** How often targets went out of service, and what came of probes. */
export class ServiceMetrics {
  readonly #probes = new LabelTable<Count>(zero);
  readonly #ejections = new LabelTable<Count>(zero);

  probed(channelId: string, result: Outcome['kind']): void {
    this.#probes.at(channelId, result).value++;
  }

  ejected(channelId: string): void {
    this.#ejections.at(channelId).value++;
  }

  expose(): string {
    return (
      exposeSamples(
        'counter',
        {
          name: 'headgate_probes_total',
          help: 'Requests for one token that the gateway itself made, by what came of them.',
          labels: ['channel', 'result'],
        },
        samplesOf(this.#probes),
      ) +
      exposeSamples(
        'counter',
        {
          name: 'headgate_ejections_total',
          help: 'Times that a model of a channel was taken out of service for its failures.',
          labels: ['channel'],
        },
        samplesOf(this.#ejections),
      )
    );
  }
}

function zero(): Count {
  return { value: 0 };
}

function samplesOf(table: LabelTable<Count>) {
  return table.entries().map(({ labels, cell }) => ({ labels, cell: cell.value }));
}
