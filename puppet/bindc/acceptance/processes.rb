# frozen_string_literal: true

# The processes of this machine, as Linux shows them.
module Processes
  # Those that a process has started as bindq serve.
  def self.children(parent)
    of(parent).select { |pid, state| state != 'Z' && command(pid)[1] == 'serve' }.map(&:first)
  end

  # The children whose program is bindq, by whatever name, that have ended but that no process has waited for: ps shows
  # them as <defunct>. They have no command line any more. Puppet leaves other defunct processes, those of its facts.
  def self.defunct(parent)
    of(parent).select { |_, state, name| state == 'Z' && name.start_with?('bindq') }.map(&:first)
  end

  # Each child of a process, with its state and the name of its program.
  def self.of(parent)
    Dir['/proc/[0-9]*'].map { |dir| File.basename(dir).to_i }.filter_map do |pid|
      head, _, rest = File.read("/proc/#{pid}/stat").rpartition(') ')
      state, of = rest.split
      [pid, state, head[/\((.*)/m, 1]] if of.to_i == parent
    rescue SystemCallError
      nil # it has ended meanwhile
    end
  end

  def self.command(pid)
    File.read("/proc/#{pid}/cmdline").split("\0")
  rescue SystemCallError
    []
  end
end
