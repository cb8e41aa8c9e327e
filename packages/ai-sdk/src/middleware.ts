/** The middleware: what is said is observed, and a model gets what holds. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Middleware,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";

import { answerOf, listening } from "./answers.js";
import { IncumbentError } from "./errors.js";
import { instructed, plain, said, sent } from "./messages.js";
import { Service } from "./service.js";
import { nextRef, sinceLastAnswer, unheard, type Said } from "./turns.js";
import {
  checkNames,
  sessionOf,
  type Identification,
  type SessionForm,
  type IncumbentCallOptions,
  type MemoryMode,
} from "./who.js";

/** What the middleware is made with. Names of people fill in what a call leaves open. */
export interface IncumbentOptions extends Identification {
  /** Where `incumbent serve` listens; http://127.0.0.1:8765 unless said. */
  url?: string;
  /** A key of the service; the environment's INCUMBENT_KEY unless said. */
  key?: string;
  /** The most tokens of the context; 2,000 unless said. */
  budget?: number;
  /** The most tokens of the messages; the oldest are left out. All are sent unless said. */
  messagesBudget?: number;
  /** False for a model whose "user" is another agent. */
  observe?: boolean;
  /** "observe" sends the model what it would get without a memory, "add" observes nothing. */
  memoryMode?: MemoryMode;
  /** The most milliseconds to wait for an answer of the service; 30,000 unless said. */
  timeout?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
  /** Who is told that a turn could not be observed; `console.warn` unless said. */
  warn?: (message: string) => void;
}

interface Run {
  session: SessionForm;
  observes: boolean;
  adds: boolean;
}

const SWITCHES = [
  "url",
  "key",
  "budget",
  "messagesBudget",
  "observe",
  "memoryMode",
  "timeout",
  "fetch",
  "warn",
];
const MEMORY_MODES: readonly string[] = ["both", "observe", "add"];
const TOO_LONG = /^InvalidInput: the turn takes [\d,]+ bytes/;
const LONGEST_QUERY = 20_000;

/** A middleware of the Vercel AI SDK, for `wrapLanguageModel`. */
export function incumbentMiddleware(options: IncumbentOptions = {}): LanguageModelV4Middleware {
  checkNames(options, SWITCHES, "incumbentMiddleware");
  const memory = new ModelMemory(options);
  const runs = new WeakMap<LanguageModelV4CallOptions, Run>();
  const runOf = (params: LanguageModelV4CallOptions): Run => {
    const run = runs.get(params);
    if (run === undefined) throw new TypeError("transformParams of this middleware was not called");
    return run;
  };
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const run = memory.run(params);
      params.abortSignal?.throwIfAborted();
      await memory.hear(run, params.prompt);
      params.abortSignal?.throwIfAborted();
      const prompt = await memory.sent(run, params);
      const made = { ...withoutOurs(params), prompt };
      runs.set(made, run);
      return made;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await memory.answer(runOf(params), answerOf(result));
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      const listener = listening((text) => memory.answer(runOf(params), text));
      return { stream: stream.pipeThrough(listener), ...rest };
    },
  };
}

/** A memory at the side of a model, for whoever each call is for. */
class ModelMemory {
  private readonly service: Service;
  private readonly warn: (message: string) => void;

  constructor(private readonly options: IncumbentOptions) {
    this.service = new Service({
      url: options.url ?? "http://127.0.0.1:8765",
      key: options.key ?? environment().INCUMBENT_KEY,
      timeout: options.timeout ?? 30_000,
      fetch: options.fetch ?? ((...given) => fetch(...given)),
    });
    this.warn = options.warn ?? ((message) => console.warn(message));
  }

  run(params: LanguageModelV4CallOptions): Run {
    const called = (params.providerOptions?.incumbent ?? {}) as IncumbentCallOptions;
    checkNames(called, ["observe", "memoryMode"], "providerOptions.incumbent");
    const session = sessionOf(this.options, called);
    const mode = called.memoryMode ?? this.options.memoryMode ?? "both";
    if (!MEMORY_MODES.includes(mode)) {
      const known = MEMORY_MODES.join(", ");
      throw new IncumbentError("InvalidInput", `memoryMode "${mode}" is not one of ${known}`);
    }
    const observes = mode !== "add" && (called.observe ?? this.options.observe ?? true);
    return { session, observes, adds: mode !== "observe" };
  }

  /** Observe what people and tools have said since the last answer. */
  async hear(run: Run, prompt: LanguageModelV4Prompt): Promise<void> {
    await this.observe(run, sinceLastAnswer(prompt));
  }

  /** Observe what a run came to. */
  async answer(run: Run, text: string): Promise<void> {
    await this.observe(run, [{ speaker: "assistant", text }]);
  }

  /** The prompt that a model gets: what holds, and the messages without what does not. Where it is
   * only observed, the prompt as it is. */
  async sent(run: Run, params: LanguageModelV4CallOptions): Promise<LanguageModelV4Prompt> {
    const { prompt, abortSignal } = params;
    if (!run.adds) return prompt;
    const { budget = 2000, messagesBudget } = this.options;
    const latest = prompt.findLast((message) => message.role === "user");
    const query = latest === undefined ? "" : said(latest).slice(0, LONGEST_QUERY);
    const [guarded, context] = await Promise.all([
      this.service.guard(run.session, prompt.map(plain), messagesBudget, abortSignal),
      this.service.context(run.session, query, budget, abortSignal),
    ]);
    return instructed(sent(prompt, guarded), context);
  }

  private async observe(run: Run, heard: Said[]): Promise<void> {
    if (!run.observes || !heard.some((one) => one.text.trim())) return;
    const desk = await this.service.workingSet(run.session);
    for (const [place, one] of unheard(desk, heard).entries()) {
      await this.observeOne(run, one, one.callId ?? nextRef(desk, place));
    }
  }

  private async observeOne(run: Run, one: Said, ref: string | undefined): Promise<void> {
    const { speaker, text } = one;
    try {
      await this.service.observe(run.session, {
        speaker,
        text,
        ...(ref === undefined ? {} : { ref }),
      });
    } catch (error) {
      if (!(error instanceof IncumbentError)) throw error;
      if (error.title === "DuplicateId" && ref !== undefined) {
        // A provider counts its calls from 0 each time, or another request came in between.
        const desk = await this.service.workingSet(run.session);
        if (unheard(desk, [one]).length) await this.observeOne(run, one, undefined);
      } else if (this.isNoTurn(error, one)) {
        this.warn(`incumbent: a turn (${speaker}) was not observed: ${error.message}`);
      } else {
        throw error;
      }
    }
  }

  /** Whether something cannot be a turn, and is sent all the same: a page that a tool fetched. */
  private isNoTurn(error: IncumbentError, one: Said): boolean {
    if (error.status === 413 || TOO_LONG.test(error.message)) return true;
    return one.speaker !== "user" && error.title === "InvalidInput";
  }
}

/** Who a run is for is nobody's business but ours: a gateway would pass it on. */
function withoutOurs(params: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  if (params.providerOptions?.incumbent === undefined) return params;
  const { incumbent: _, ...others } = params.providerOptions;
  return { ...params, providerOptions: others };
}

function environment(): Record<string, string | undefined> {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env ?? {};
}
