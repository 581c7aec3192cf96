"""Asks a policy server through the real client of openpi: ``client_program.py URL KEY ASKED ANSWERED``. Runs where etude is not installed.

ASKED holds observations as arrays, ``ANSWERED`` takes the actions; the server's metadata is printed, and what the client raises.
"""

import json
import sys

import numpy as np
from openpi_client.action_chunk_broker import ActionChunkBroker
from openpi_client.websocket_client_policy import WebsocketClientPolicy

CHUNK = 4

url, key, asked, answered = sys.argv[1:]
host, _, port = url.rpartition(":")
with np.load(asked) as found:
    observations = [
        {"base": base, "proprioception": felt, "prompt": str(prompt)}
        for base, felt, prompt in zip(found["base"], found["proprioception"], found["prompt"], strict=True)
    ]
client = WebsocketClientPolicy(host, int(port), key or None)
chunks = []
try:
    for observation in observations:
        chunks.append(client.infer(observation)["actions"])
except RuntimeError as error:
    print(json.dumps({"error": str(error)}))
    sys.exit()
another = ActionChunkBroker(WebsocketClientPolicy(host, int(port), key or None), CHUNK)  # a connection, and so an episode, of its own
single = [another.infer(observation)["actions"] for observation in observations for _ in range(CHUNK)]
np.savez(answered, chunks=np.array(chunks), single=np.array(single))
print(json.dumps(client.get_server_metadata()))
