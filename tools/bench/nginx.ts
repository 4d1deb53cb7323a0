import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pinningObstacle, serverCore, startPinned } from '../harness/pinned-process.ts';
import type { ServerUnderTest } from './servers.ts';

/** True when this machine has nginx at all. */
export function hasNginx(): boolean {
  return spawnSync('nginx', ['-v']).status === 0;
}

/** nginx as a plain proxy: one worker, connections kept alive on both sides, no access log. */
export async function startNginx(upstreamPort: number): Promise<ServerUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'headgate-bench-nginx-'));
  const port = await freePort();
  const configuration = join(directory, 'nginx.conf');
  await writeFile(configuration, nginxConfiguration(directory, port, upstreamPort));
  const started = startPinned({
    core: serverCore,
    command: ['nginx', '-p', directory, '-e', join(directory, 'error.log'), '-c', configuration],
  });
  await untilItListens(port);
  return {
    name: 'nginx',
    port,
    key: 'unused',
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(directory, { recursive: true });
    },
  };
}

function nginxConfiguration(directory: string, port: number, upstreamPort: number): string {
  return `
daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log error;
worker_processes 1;
${pinningObstacle() === null ? 'worker_cpu_affinity 01;' : ''}
worker_rlimit_nofile 16384;
events { worker_connections 16000; }
http {
  access_log off;
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  keepalive_requests 1000000000;
  upstream fixed {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://fixed;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}

/** nginx says nothing when it is ready, so it is asked until it answers. */
async function untilItListens(port: number): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    const socket = connect(port, '127.0.0.1');
    const listening = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listening) return;
    await setTimeout(20);
  }
  throw new Error('nginx did not start.');
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('A listening server has an address.');
  return address.port;
}
