from syndicate.config import load
from syndicate.graph.draw import mermaid, nodes, tree
from syndicate.settings import Settings
from tests.conftest import Write

ROOT = """
    syndicate_name: House
    orchestrator: {name: 'Lead "L" <b>', instruction: i, models: [ollama/a, local/smollm2], tools: [roll]}
    subagents:
      - {name: Kid, description: d, instruction: i}
      - {name: Desk, description: d, yaml_reference: desk.yaml}
      - {name: Again, description: d, yaml_reference: desk.yaml}
      - {name: Far, description: d, a2a_agent_url: 'https://example.com/a'}
"""
DESK = """
    syndicate_name: Desk
    orchestrator: {name: Clerk, instruction: i, model: local/smollm2}
    subagents: [{name: Copyist, description: d, instruction: i, model: gemini-3.7-flash}]
"""


def test_the_tree_shows_every_agent_and_a_shared_file_once(write: Write, settings: Settings):
    write("desk.yaml", DESK)
    assert tree(load(write("house.yaml", ROOT), settings=settings)).splitlines() == [
        "House",
        '└── Lead "L" <b>  (ollama/a | local/smollm2 · tools: roll)',
        "    ├── Kid  (inherits its model)",
        "    ├── Desk  (desk.yaml)",
        "    │   └── Clerk  (local/smollm2)",
        "    │       └── Copyist  (gemini-3.7-flash)",
        "    ├── Again  (desk.yaml)",
        "    │   └── Clerk  (see above: desk.yaml)",
        "    └── Far  (https://example.com/a)",
    ]


def test_mermaid_escapes_names_and_draws_a_shared_file_once(write: Write, settings: Settings):
    write("desk.yaml", DESK)
    lines = mermaid(load(write("house.yaml", ROOT), settings=settings)).splitlines()
    assert lines[0] == "flowchart TD"
    assert '    f0_0[["Lead &quot;L&quot; &lt;b&gt;<br/>ollama/a | local/smollm2 · tools: roll"]]' in lines
    assert sum("Copyist" in line for line in lines) == 1
    assert {"    f0_2 --> f1_0", "    f0_3 --> f1_0", "    f1_0 --> f1_1"} <= set(lines)


def test_a_name_of_several_lines_is_drawn_on_one(write: Write, settings: Settings):
    write(
        "a.yaml", 'syndicate_name: "A\\nB"\norchestrator: {name: "C\\n  D", instruction: i, model: "local/smollm2"}\n'
    )
    loaded = load(settings.syndicate_agents_dir / "a.yaml", settings=settings)
    assert tree(loaded).splitlines() == ["A B", "└── C D  (local/smollm2)"]


def test_every_agent_is_one_node_under_a_key_of_its_own(write: Write, settings: Settings):
    write("desk.yaml", DESK)
    agents = nodes(load(write("house.yaml", ROOT), settings=settings))
    assert [(agent.key, agent.name, agent.file.name) for agent in agents] == [
        ("f0_0", 'Lead "L" <b>', "house.yaml"),
        ("f0_1", "Kid", "house.yaml"),
        ("f0_2", "Desk", "house.yaml"),
        ("f1_0", "Clerk", "desk.yaml"),
        ("f1_1", "Copyist", "desk.yaml"),
        ("f0_3", "Again", "house.yaml"),
        ("f0_4", "Far", "house.yaml"),
    ]
    assert agents[1].models == ("ollama/a", "local/smollm2")
    calls = {(agent.key, child.key) for agent in agents for child in agent.children}
    assert {("f0_0", "f0_2"), ("f0_2", "f1_0"), ("f0_3", "f1_0"), ("f1_0", "f1_1")} <= calls
