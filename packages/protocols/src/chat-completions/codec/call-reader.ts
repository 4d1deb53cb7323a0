import type { ReaderContext, ToolName } from '../../codec.ts';
import type { BlockSequencer } from '../../translate/block-sequencer.ts';
import { unwrapInput } from '../../translate/custom-tool.ts';
import type { Sealed } from '../../turn.ts';
import { listOf, numberOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { callInput } from './read-messages.ts';
import { sealCall } from './upstream-thoughts.ts';

/** A call as far as it has come. It is opened when its name is known. */
interface Call {
  readonly key: number;
  id: string;
  tool: ToolName | null;
  /** What waits: for the name, or in the case of free text within a function's arguments for the end. */
  held: string;
  isWrapped: boolean;
  sealed: Sealed | null;
}

/** Reads the calls in the deltas of one answer. Servers leave out indices, types and ids, or send empty ones later. */
export class CallReader {
  readonly #context: ReaderContext;
  readonly #blocks: BlockSequencer<string | number>;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  hasCalls = false;

  constructor(context: ReaderContext, blocks: BlockSequencer<string | number>) {
    this.#context = context;
    this.#blocks = blocks;
  }

  take(delta: WireRecord): void {
    for (const call of listOf(delta['tool_calls'])) this.#takeCall(recordOf(call));
    const older = delta['function_call'] ?? null;
    if (older !== null) this.#takeCall({ index: 0, function: older });
  }

  /** What was held back until the end. */
  end(): void {
    for (const call of this.#calls) if (call.isWrapped) this.#add(call, unwrapInput(call.held));
  }

  #takeCall(wire: WireRecord): void {
    const call = this.#find(wire);
    const form = wire['custom'] === undefined ? 'function' : 'custom';
    const called = recordOf(wire[form]);
    call.held += callInput(form === 'custom' ? called['input'] : called['arguments']);
    call.sealed = sealCall(this.#context.origin, wire) ?? call.sealed;
    if (call.tool === null) this.#open(call, stringOf(called['name']) ?? '', form);
    if (call.tool !== null) this.#flush(call);
  }

  /** By its index, else by its id; without either it is the last one, unless it is named anew. */
  #find(wire: WireRecord): Call {
    const index = numberOf(wire['index']);
    const id = stringOf(wire['id']) ?? '';
    const isNamed = (stringOf(recordOf(wire['function'] ?? wire['custom'])['name']) ?? '') !== '';
    const last = id === '' && !isNamed ? this.#calls.at(-1) : undefined;
    const known = index === null ? (this.#byId.get(id) ?? last) : this.#byIndex.get(index);
    const call = known ?? this.#begin(index);
    if (call.id === '' && id !== '') {
      call.id = id;
      this.#byId.set(id, call);
    }
    return call;
  }

  #begin(index: number | null): Call {
    const call: Call = {
      key: this.#calls.length,
      id: '',
      tool: null,
      held: '',
      isWrapped: false,
      sealed: null,
    };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }

  #open(call: Call, sent: string, form: ToolName['form']): void {
    if (sent === '') return;
    const tool = this.#context.names.get(sent) ?? { name: sent, namespace: null, form };
    call.tool = tool;
    call.isWrapped = tool.form === 'custom' && form === 'function';
    if (call.id === '') call.id = `call_${this.#context.traceId.slice(-24)}_${call.key}`;
    this.hasCalls = true;
    this.#blocks.open(call.key, { kind: 'tool-call', id: call.id, ...tool });
  }

  #flush(call: Call): void {
    if (!call.isWrapped) {
      this.#add(call, call.held);
      call.held = '';
    }
    if (call.sealed !== null) this.#blocks.add(call.key, { kind: 'sealed', sealed: call.sealed });
    call.sealed = null;
  }

  #add({ key }: Call, text: string): void {
    if (text !== '') this.#blocks.add(key, { kind: 'text', text });
  }
}
