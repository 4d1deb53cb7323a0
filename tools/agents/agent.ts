import type { Platform } from '../../packages/protocols/src/index.ts';
import type { Upstream } from './upstreams.ts';

/** The work every agent is given, and what its scripted model knows of it beforehand. */
export interface Task {
  readonly prompt: string;
  /** The folder it works in: a git repository with a note and a picture in it. */
  readonly folder: string;
  /** The file to make, by its whole path, and what it must hold. */
  readonly copyFile: string;
  readonly copyText: string;
  /** The model's words when all is done. */
  readonly farewell: string;
}

/** The place of the model. */
export interface Connection {
  readonly apiOrigin: string;
  readonly key: string;
  readonly model: string;
}

/** How an agent is started on a task with nobody at the keyboard; it must take the first failure for the last. */
export interface Launch {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Paths under the home folder, and what to write there before the start. */
  readonly homeFiles: Readonly<Record<string, string>>;
}

export interface ScriptCall {
  readonly tool: string;
  /** A string is sent to the tool as it is. */
  readonly input: unknown;
}

/** A turn of the model: a call, calls at once, or its last words. The simulator reads it as it is. */
export type ScriptStep = ScriptCall | readonly ScriptCall[] | string;

/** A coding agent in one of its ways to work. */
export interface Agent {
  readonly id: string;
  /** The npm package it comes in, and its program there, for Node. */
  readonly package: string;
  readonly program: string;
  readonly platform: Platform;
  /** The protocol it speaks. */
  readonly surface: Upstream;
  /** The public id of its model: some agents choose their way to work by it. */
  readonly model: string;
  launch(task: Task, connection: Connection): Launch;
  /** The turns of the model on an upstream that speaks this protocol; the first one reads the note and shows the picture. */
  script(task: Task, upstream: Upstream): readonly ScriptStep[];
  /** The last words its user was told, or null; what it prints has a form of its own. */
  finalText(standardOutput: string): string | null;
}
