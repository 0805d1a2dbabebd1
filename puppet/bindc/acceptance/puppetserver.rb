# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'net/http'
require 'socket'
require 'uri'

# Debian's Puppetserver in a private directory: without a CA, with plain HTTP on 127.0.0.1, trusting
# the client's headers. Environments are cached until the process ends, which is the best setting
# for a server.
class Puppetserver
  PACKAGE = '/usr/lib/puppetserver'
  JARS = Dir['/usr/share/puppetserver/puppetserver.jar']
  DISABLED_CA = 'puppetlabs.services.ca.certificate-authority-disabled-service/certificate-authority-disabled-service'

  # Timeout for the start in seconds. It takes 25 on an idle machine.
  START = 1500

  attr_reader :pid

  # instances: number of JRubies. java: arguments of the virtual machine; by default it compiles
  # quickly rather than well, because it does not live long. jruby: further settings of
  # jruby-puppet. user: the user it runs as, by default that of this process.
  def initialize(dir, codedir, instances: 2, java: %w[-XX:TieredStopAtLevel=1 -XX:+UseSerialGC], jruby: {}, user: nil)
    @dir, @codedir, @instances, @java, @jruby, @user = dir, codedir, instances, java, jruby, user
    @port = TCPServer.open('127.0.0.1', 0) { |s| s.addr[1] }
  end

  def start
    write
    FileUtils.chown_R(@user, @user, @dir) if @user
    become = @user ? ['setpriv', "--reuid=#{@user}", "--regid=#{@user}", '--clear-groups'] : []
    command = [*become, 'java', *@java, '-Xms256m', '-Xmx1g', '-Djruby.logger.class=com.puppetlabs.jruby_utils.jruby.Slf4jLogger',
               '-Djruby.lib=/usr/share/jruby/lib', "-Dlogback.configurationFile=#{@dir}/logback.xml",
               '-cp', JARS.join(':'), 'clojure.main', '-m', 'puppetlabs.trapperkeeper.main',
               '--config', "#{@dir}/conf.d", '--bootstrap-config', "#{@dir}/services.d"]
    trap('HUP', 'DEFAULT') # nohup makes programs ignore this signal, which the server needs to reload
    @pid = Process.spawn(*command, out: "#{@dir}/output", err: %i[child out], in: '/dev/null', pgroup: true)
    ready
  rescue StandardError
    stop
    raise
  end

  # Stops the server like systemd.
  def stop
    return unless @pid

    Process.kill('TERM', @pid)
    Process.wait(@pid)
  ensure
    @pid = nil
  end

  # Restarts all services in the same process, like systemctl reload.
  def reload
    before = log.scan(RELOADED).length
    Process.kill('HUP', @pid)
    deadline = now + START
    sleep 0.2 until now > deadline || (log.scan(RELOADED).length > before && listening?)
  end

  RELOADED = /Puppet Server has successfully started/

  # Returns the catalog of a node as parsed JSON. Raises Refused with the server's message if there is
  # none.
  def catalog(node, facts, environment: 'production')
    answer = post(node, facts, environment)
    return JSON.parse(answer.body, max_nesting: false) if answer.is_a?(Net::HTTPSuccess)

    raise Refused, "#{answer.code}: #{message(answer.body)}"
  end

  class Refused < StandardError; end

  # Sends a DELETE request to the admin API.
  def delete(path)
    http { |connection| connection.delete(path) }
  end

  # Returns the log of the server.
  def log
    File.read("#{@dir}/output")
  end

  private

  def ready
    deadline = now + START
    until listening?
      if Process.wait(@pid, Process::WNOHANG)
        @pid = nil
        raise "puppetserver ended:\n#{log}"
      end
      raise "puppetserver is not ready after #{START} s:\n#{log}" if now > deadline

      sleep 0.2
    end
  end

  def listening?
    Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/status/v1/simple")).body == 'running'
  rescue SystemCallError, IOError
    false
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def post(node, facts, environment)
    form = { environment: environment, facts_format: 'application/json', transaction_uuid: '0',
             facts: URI.encode_www_form_component(JSON.generate(name: node, values: facts)) }
    headers = { 'Accept' => 'application/json', 'Content-Type' => 'application/x-www-form-urlencoded',
                'X-Client-Verify' => 'SUCCESS', 'X-Client-DN' => "CN=#{node}" }
    http do |connection|
      connection.post("/puppet/v3/catalog/#{node}?environment=#{environment}", URI.encode_www_form(form), headers)
    end
  end

  def http(&block)
    Net::HTTP.start('127.0.0.1', @port, read_timeout: 600, &block)
  end

  def message(body)
    JSON.parse(body)['message']
  rescue JSON::ParserError
    body
  end

  def write
    %w[conf.d services.d conf/ssl var run log gems].each { |sub| FileUtils.mkdir_p("#{@dir}/#{sub}") }
    { 'conf.d/server.conf' => JSON.pretty_generate(settings), 'services.d/bootstrap.cfg' => services,
      'logback.xml' => LOGBACK, 'conf/puppet.conf' => PUPPET_CONF }.each do |path, text|
      File.write("#{@dir}/#{path}", text)
    end
  end

  # Returns the bootstrap.cfg of the package with the CA service disabled.
  def services
    File.read('/etc/puppet/puppetserver/services.d/bootstrap.cfg') + "\n#{DISABLED_CA}\n"
  end

  def settings
    {
      'global' => { 'logging-config' => "#{@dir}/logback.xml" },
      'webserver' => { 'host' => '127.0.0.1', 'port' => @port },
      'metrics' => { 'server-id' => 'localhost' },
      'authorization' => { 'version' => 1, 'allow-header-cert-info' => true, 'rules' => [
        { 'name' => 'all', 'sort-order' => 1, 'allow-unauthenticated' => true,
          'match-request' => { 'path' => '/', 'type' => 'path' } }
      ] },
      'jruby-puppet' => {
        'ruby-load-path' => ["#{PACKAGE}/ruby/vendor_ruby"], 'gem-home' => "#{@dir}/gems",
        'gem-path' => ["#{@dir}/gems", "#{PACKAGE}/vendored-jruby-gems"],
        'server-conf-dir' => "#{@dir}/conf", 'server-code-dir' => @codedir, 'server-var-dir' => "#{@dir}/var",
        'server-run-dir' => "#{@dir}/run", 'server-log-dir' => "#{@dir}/log", 'max-active-instances' => @instances
      }.merge(@jruby),
      'web-router-service' => ROUTES
    }
  end

  ROUTES = {
    'puppetlabs.services.master.master-service/master-service' => '/puppet',
    'puppetlabs.services.puppet-admin.puppet-admin-service/puppet-admin-service' => '/puppet-admin-api',
    'puppetlabs.trapperkeeper.services.status.status-service/status-service' => '/status',
    'puppetlabs.trapperkeeper.services.metrics.metrics-service/metrics-webservice' => '/metrics'
  }.freeze

  LOGBACK = <<~XML
    <configuration>
      <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%p %m%n</pattern></encoder></appender>
      <logger name="org.eclipse.jetty" level="WARN"/>
      <root level="info"><appender-ref ref="OUT"/></root>
    </configuration>
  XML

  PUPPET_CONF = <<~INI
    [main]
    certname = localhost
    [server]
    environment_timeout = unlimited
    storeconfigs = false
    reports =
  INI
end
