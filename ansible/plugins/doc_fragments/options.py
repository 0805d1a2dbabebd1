"""Options that the plugins share."""


class ModuleDocFragment:
    DOCUMENTATION = r'''
options:
  snapshot:
    description:
      - The file that C(bindc build) writes, or a directory with a file C(ENVIRONMENT.snap) for each environment.
      - A run uses the file that it began with, even if another one replaces it.
    type: path
    env: [{name: BINDQ_SNAPSHOT}]
    ini: [{section: bindc, key: snapshot}]
    vars: [{name: bindc_snapshot}]
  executable:
    description: The program bindq.
    type: str
    default: bindq
    env: [{name: ANSIBLE_HIERA_BIN}]
    ini: [{section: bindc, key: executable}]
  config_file:
    description:
      - The old name of C(snapshot), which takes precedence. A C(hiera.yaml) cannot be used; compile it.
    type: path
    env: [{name: ANSIBLE_HIERA_CFG}]
    ini: [{section: bindc, key: config_file}]
  arguments:
    description: Further arguments of C(bindq serve), such as C(--eyaml-key) and its file.
    type: list
    elements: str
    default: []
    ini: [{section: bindc, key: arguments}]
  environment:
    description:
      - The Puppet environment. The default is C(production).
      - An empty text means that there is no environment, so C(%{environment}) is empty. It is the default with
        C(old_plugin).
    type: str
    env: [{name: BINDC_ENVIRONMENT}]
    ini: [{section: bindc, key: environment}]
    vars: [{name: bindc_environment}]
  facts:
    description:
      - C(gathered) uses the facts that Ansible has gathered for the host, under the names of Facter.
      - C(none) uses no facts.
      - A hash of Facter's facts replaces the gathered ones.
    type: raw
    default: gathered
    env: [{name: BINDC_FACTS}]
    ini: [{section: bindc, key: facts}]
    vars: [{name: bindc_facts}]
  facts_table:
    description: A YAML file whose entries replace those of the table C(facts.yml) of this collection.
    type: path
    ini: [{section: bindc, key: facts_table}]
  trusted:
    description: Entries of C($trusted). By default, C(certname) is the name of the host in the inventory.
    type: dict
    vars: [{name: bindc_trusted}]
  old_plugin:
    description:
      - Behave as C(community.general.hiera) did. Facts are not used, only the variables of the term.
      - The result is the text that the command C(hiera) prints, and C(nil) for a key that is not found.
    type: bool
    default: false
    env: [{name: BINDC_OLD_PLUGIN}]
    ini: [{section: bindc, key: old_plugin}]
  timeout:
    description: How many seconds bindq may take for an answer.
    type: float
    default: 10
    ini: [{section: bindc, key: timeout}]
'''
